// Reads a directory with many files in small pieces. Usage: listing DIRECTORY, which is empty.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kFiles = 1500, kPiece = 512 };

static void require(int condition, const char* what) {
  if (condition) return;
  printf("FAILED: %s\n", what);
  exit(1);
}

static void make_files(int directory) {
  for (int i = 0; i < kFiles; ++i) {
    char name[32];
    snprintf(name, sizeof name, "file-%d", i * 607 % kFiles);
    const int fd = openat(directory, name, O_CREAT | O_WRONLY, 0600);
    require(fd >= 0, "a file can be made");
    close(fd);
  }
}

/// Returns how many files are left, and checks their order. `removed`: each file is removed once
/// its piece is read.
static int read_pieces(int directory, int removed) {
  char piece[kPiece];
  char last[256] = "";
  int files = 0;
  for (long size; (size = syscall(SYS_getdents64, directory, piece, sizeof piece)) != 0;) {
    require(size > 0, "a piece can be read");
    for (long at = 0; at < size;) {
      const struct dirent64* const entry = (const struct dirent64*)(piece + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      require(strcmp(last, entry->d_name) < 0, "names are in order, each one once");
      strcpy(last, entry->d_name);
      if (removed) require(unlinkat(directory, entry->d_name, 0) == 0, "a file can be removed");
      ++files;
    }
  }
  return files;
}

static void seek(const char* path) {
  DIR* const directory = opendir(path);
  require(directory != NULL, "the directory can be opened");
  long position = 0;
  char next[256] = "";
  for (int i = 0; i < 700; ++i) {
    if (i == 500) position = telldir(directory);
    const struct dirent* const entry = readdir(directory);
    require(entry != NULL, "there is an entry");
    if (i == 500) strcpy(next, entry->d_name);
  }
  seekdir(directory, position);
  require(strcmp(readdir(directory)->d_name, next) == 0, "seekdir continues at telldir");
  rewinddir(directory);
  require(strcmp(readdir(directory)->d_name, ".") == 0, "rewinddir begins again");
  closedir(directory);
}

static void read_by_two(int directory) {
  char piece[kPiece];
  const int other = dup(directory);
  lseek(directory, 0, SEEK_SET);
  const long size = syscall(SYS_getdents64, directory, piece, sizeof piece);
  int entries = 0;
  for (long at = 0; at < size; ++entries) at += ((const struct dirent64*)(piece + at))->d_reclen;
  require(entries > 2 && entries - 2 + read_pieces(other, 0) == kFiles, "a duplicate goes on");
}

static void read_with_old_call(int directory) {
  struct old {
    unsigned long inode, next;
    unsigned short size;
    char name[];
  };
  char piece[kPiece];
  lseek(directory, 0, SEEK_SET);
  const long size = syscall(SYS_getdents, directory, piece, sizeof piece);
  const struct old* const first = (const struct old*)piece;
  require(size > 0 && strcmp(first->name, ".") == 0, "getdents begins with the directory");
  require(piece[first->size - 1] == DT_DIR, "getdents tells the kind");
}

int main(int argc, char** argv) {
  require(argc == 2 && mkdir(argv[1], 0700) == 0, "there is a new directory");
  const int directory = open(argv[1], O_RDONLY | O_DIRECTORY);
  make_files(directory);
  char small[8];
  require(syscall(SYS_getdents64, directory, small, sizeof small) < 0, "a small buffer is refused");
  require(read_pieces(directory, 0) == kFiles, "all files are read");
  require(read_pieces(directory, 0) == 0, "nothing follows the end");
  seek(argv[1]);
  read_by_two(directory);
  read_with_old_call(directory);
  lseek(directory, 0, SEEK_SET);
  require(read_pieces(directory, 1) == kFiles, "all are read while they are removed");
  require(rmdir(argv[1]) == 0, "nothing is left");
  require(syscall(SYS_getdents64, directory, small, sizeof small) < 0, "it is gone");
  printf("all in order\n");
  return 0;
}
