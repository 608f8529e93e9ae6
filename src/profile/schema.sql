-- The one description of a profile's file, for the library (C++) and for the command line (Python).
-- Who changes it raises user_version; a file of another version is set aside. So is one of what is remembered otherwise:
-- 1 had what contests of turns found, whose verdicts were of cold connections.
PRAGMA application_id = 1836414057;
PRAGMA user_version = 2;

-- Sets of hosts: core/selection/profile.h, Fabric. Latencies in us, ascending, with commas.
CREATE TABLE IF NOT EXISTS fabric(
    id INTEGER PRIMARY KEY,
    hosts INTEGER NOT NULL,
    sites INTEGER NOT NULL,
    latencies_us TEXT NOT NULL,
    processor TEXT NOT NULL,
    transport TEXT NOT NULL
);

-- What was measured of one candidate for one kind of call: core/selection/profile.h, ProfileRow.
CREATE TABLE IF NOT EXISTS measurement(
    fabric INTEGER NOT NULL REFERENCES fabric(id),
    mpi TEXT NOT NULL,                -- name and version
    ranks INTEGER NOT NULL,
    hosts INTEGER NOT NULL,
    most_on_a_host INTEGER NOT NULL,
    collective TEXT NOT NULL,
    root INTEGER NOT NULL,            -- a rank; -1: any, or there is none
    commutes INTEGER NOT NULL,
    length_bytes INTEGER NOT NULL,    -- of the message, or of one block where there is one for every rank
    buffers TEXT NOT NULL,            -- warm or cold
    origin TEXT NOT NULL,             -- tuned or learned
    candidate TEXT NOT NULL,          -- as settings spell it
    low_us REAL NOT NULL,
    median_us REAL NOT NULL,
    high_us REAL NOT NULL,
    windows INTEGER NOT NULL,
    measured_s REAL NOT NULL,         -- since 1970
    PRIMARY KEY(fabric, mpi, ranks, hosts, most_on_a_host, collective, root, commutes, length_bytes,
                buffers, origin, candidate)
) WITHOUT ROWID;

-- How long programs ran: core/selection/profile.h, ProgramRun. Only the newest of all of these are kept.
CREATE TABLE IF NOT EXISTS run(
    fabric INTEGER NOT NULL REFERENCES fabric(id),
    mpi TEXT NOT NULL,
    program TEXT NOT NULL,            -- a hash of its command line
    ranks INTEGER NOT NULL,
    hosts INTEGER NOT NULL,
    most_on_a_host INTEGER NOT NULL,
    length_s REAL NOT NULL,           -- from MPI_Init to the communicator's end, with what was saved
    saved_share REAL,                 -- of what it takes natively, by its calls as they ran in the end; NULL: not known
    measured_s REAL NOT NULL,
    PRIMARY KEY(fabric, mpi, program, ranks, hosts, most_on_a_host)
) WITHOUT ROWID;
