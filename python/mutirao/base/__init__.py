"""What all need: where things lie, errors, output, units, files of the user. Imports no other package."""
