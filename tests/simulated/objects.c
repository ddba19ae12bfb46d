// Creates, finds or removes an object of each kind that processes of one machine find by a name:
// objects make|find|remove NAME
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>

static key_t key;
static char name[64];
static int done;

static const char* path_in(const char* directory) {
  static char path[128];
  snprintf(path, sizeof path, "%s%s.file", directory, name);
  return path;
}

// FNV-1a. IPC_PRIVATE, which is 0, is no name.
static key_t key_of(const char* text) {
  unsigned hash = 2166136261;
  for (; *text != 0; ++text) hash = (hash ^ (unsigned char)*text) * 16777619;
  return (key_t)(hash | 1);
}

static void tell(const char* what, bool works) {
  done += works;
  if (works) {
    printf("%s: yes\n", what);
  } else {
    printf("%s: %s\n", what, strerror(errno));
  }
}

static void tell_number(const char* what, int number) {
  if (number >= 0) printf("%s is number %d\n", what, number);
  tell(what, number >= 0);
}

static void make_or_find(bool make) {
  const int flags = make ? O_CREAT | O_EXCL | O_RDWR : O_RDWR;
  const int kinds = make ? IPC_CREAT | IPC_EXCL | 0600 : 0600;
  tell_number("System V memory", shmget(key, 100, kinds));
  tell_number("System V semaphore", semget(key, 1, kinds));
  tell_number("System V queue", msgget(key, kinds));
  tell("POSIX queue", mq_open(name, flags, 0600, NULL) != (mqd_t)-1);
  tell("POSIX memory", shm_open(name, flags, 0600) >= 0);
  tell("POSIX semaphore", sem_open(name + 1, make ? O_CREAT | O_EXCL : 0, 0600, 0) != SEM_FAILED);
  tell("file in /tmp", open(path_in("/tmp"), flags, 0600) >= 0);
  tell("file in /dev/shm", open(path_in("/dev/shm"), flags, 0600) >= 0);
  tell("file in /run", open(path_in("/run"), flags, 0600) >= 0);
}

static void remove_all(void) {
  shmctl(shmget(key, 100, 0600), IPC_RMID, NULL);
  semctl(semget(key, 1, 0600), 0, IPC_RMID);
  msgctl(msgget(key, 0600), IPC_RMID, NULL);
  mq_unlink(name);
  shm_unlink(name);
  sem_unlink(name + 1);
  unlink(path_in("/tmp"));
  unlink(path_in("/dev/shm"));
  unlink(path_in("/run"));
}

int main(int count, char** arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: objects make|find|remove NAME\n");
    return 2;
  }
  const char* const mode = arguments[1];
  key = key_of(arguments[2]);
  snprintf(name, sizeof name, "/anyrdma-%s", arguments[2]);
  if (strcmp(mode, "remove") == 0) {
    remove_all();
  } else {
    make_or_find(strcmp(mode, "make") == 0);
    printf("%d of 9\n", done);
  }
  return 0;
}
