// Creates, finds or removes an object of each kind that processes of one machine find by a name.
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

static const key_t kKey = 0x616e7972;
static const char* const kName = "/anyrdma-objects";
static int done;

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
  tell_number("System V memory", shmget(kKey, 100, kinds));
  tell_number("System V semaphore", semget(kKey, 1, kinds));
  tell_number("System V queue", msgget(kKey, kinds));
  tell("POSIX queue", mq_open(kName, flags, 0600, NULL) != (mqd_t)-1);
  tell("POSIX memory", shm_open(kName, flags, 0600) >= 0);
  tell("POSIX semaphore", sem_open(kName + 1, make ? O_CREAT | O_EXCL : 0, 0600, 0) != SEM_FAILED);
  tell("file in /tmp", open("/tmp/anyrdma-objects", flags, 0600) >= 0);
  tell("file in /dev/shm", open("/dev/shm/anyrdma-file", flags, 0600) >= 0);
  tell("file in /run", open("/run/anyrdma-objects", flags, 0600) >= 0);
}

static void remove_all(void) {
  shmctl(shmget(kKey, 100, 0600), IPC_RMID, NULL);
  semctl(semget(kKey, 1, 0600), 0, IPC_RMID);
  msgctl(msgget(kKey, 0600), IPC_RMID, NULL);
  mq_unlink(kName);
  shm_unlink(kName);
  sem_unlink(kName + 1);
  unlink("/tmp/anyrdma-objects");
  unlink("/dev/shm/anyrdma-file");
  unlink("/run/anyrdma-objects");
}

int main(int count, char** arguments) {
  const char* const mode = count == 2 ? arguments[1] : "";
  if (strcmp(mode, "remove") == 0) {
    remove_all();
  } else {
    make_or_find(strcmp(mode, "make") == 0);
    printf("%d of 9\n", done);
  }
  return 0;
}
