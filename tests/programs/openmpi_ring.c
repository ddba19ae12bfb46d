/* Messages of all sizes around a ring, checked by whoever gets them; and one sum over all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char byte_of(int from, size_t at, int round) {
  return (unsigned char)(from * 131 + at * 7 + at / 251 + (size_t)round);
}

int main(int argc, char** argv) {
  int rank, size, wrong = 0, all_wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, last = (rank + size - 1) % size;
  for (int round = 0; round < 3; round++) {
    for (size_t bytes = 1; bytes <= (size_t)1 << 20; bytes = bytes * 4 + 1) {
      unsigned char* out = malloc(bytes);
      unsigned char* in = calloc(bytes, 1);
      for (size_t i = 0; i < bytes; i++) out[i] = byte_of(rank, i, round);
      MPI_Sendrecv(out, (int)bytes, MPI_BYTE, next, round, in, (int)bytes, MPI_BYTE, last, round,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (size_t i = 0; i < bytes; i++) wrong += in[i] != byte_of(last, i, round);
      free(in);
      free(out);
    }
  }
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all_wrong == 0) printf("ring of %d: every byte right\n", size);
  if (rank == 0 && all_wrong != 0) printf("ring of %d: %d bytes wrong\n", size, all_wrong);
  MPI_Finalize();
  return all_wrong != 0;
}
