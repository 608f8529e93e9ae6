! Solves the Poisson equation  -u_xx - u_yy = f  on the unit square, u = 0 on its edge, by Jacobi's
! method on a grid of 32 x 32 points. With f = 2 pi^2 sin(pi x) sin(pi y) the solution is known,
! u = sin(pi x) sin(pi y), so the program says how far it is from it.
!
! Each rank has a strip of columns, and a halo column on either side. In each step neighbours exchange the
! columns at their edges by MPI_Sendrecv; every 50 steps MPI_Allreduce tells all ranks the largest change.
!
!   mpifort -O2 jacobi.f90 -o jacobi
!   mutirao run -n 4 ./jacobi
program jacobi
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer, parameter :: n = 32, most_steps = 40000, steps_between_checks = 50
  real(dp), parameter :: pi = acos(-1.0_dp), tolerance = 1.0e-9_dp, h = 1.0_dp / (n + 1)
  integer :: rank, ranks, left, right, columns, first, step
  real(dp), allocatable :: u(:, :), new(:, :), f(:, :)
  real(dp) :: change, error

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (ranks > n) call give_up("at most one rank for each of the 32 columns")
  call divide_columns()
  call fill()

  do step = 1, most_steps
    call exchange_halos()
    call relax()
    if (mod(step, steps_between_checks) /= 0) cycle
    change = largest_of_all(maxval(abs(new(1:n, 1:columns) - u(1:n, 1:columns))))
    u(1:n, 1:columns) = new(1:n, 1:columns)
    if (change < tolerance) exit
  end do

  error = largest_of_all(maxval(abs(u(1:n, 1:columns) - exact())))
  if (rank == 0) then
    print '(a, i0, a)', "converged after ", step, " steps"
    print '(a, es9.2)', "largest error against the exact solution:", error
  end if
  ! The five-point formula itself is off by about pi^2 h^2 / 12 at the centre.
  if (error > h**2) call give_up("this is not the solution")
  call MPI_Finalize()

contains

  ! The first ranks get one column more where they do not divide evenly.
  subroutine divide_columns()
    integer :: more
    more = mod(n, ranks)
    columns = n / ranks + merge(1, 0, rank < more)
    first = rank * (n / ranks) + min(rank, more) + 1
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  end subroutine

  subroutine fill()
    allocate (u(0:n + 1, 0:columns + 1), new(0:n + 1, 0:columns + 1), f(n, columns))
    u = 0
    new = 0
    f = 2 * pi**2 * exact()
  end subroutine

  function exact() result(values)
    real(dp) :: values(n, columns)
    integer :: i, j
    do j = 1, columns
      do i = 1, n
        values(i, j) = sin(pi * i * h) * sin(pi * (first + j - 1) * h)
      end do
    end do
  end function

  subroutine exchange_halos()
    call MPI_Sendrecv(u(1, 1), n, MPI_DOUBLE_PRECISION, left, 0, &
                      u(1, columns + 1), n, MPI_DOUBLE_PRECISION, right, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(u(1, columns), n, MPI_DOUBLE_PRECISION, right, 1, &
                      u(1, 0), n, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine

  ! Before a check both are kept, to be compared.
  subroutine relax()
    integer :: j
    do j = 1, columns
      new(1:n, j) = (u(0:n - 1, j) + u(2:n + 1, j) + u(1:n, j - 1) + u(1:n, j + 1) + h**2 * f(:, j)) / 4
    end do
    if (mod(step, steps_between_checks) /= 0) u(1:n, 1:columns) = new(1:n, 1:columns)
  end subroutine

  function largest_of_all(mine) result(largest)
    real(dp), intent(in) :: mine
    real(dp) :: largest
    call MPI_Allreduce(mine, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  end function

  subroutine give_up(why)
    character(*), intent(in) :: why
    if (rank == 0) print '(2a)', "jacobi: ", why
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine
end program
