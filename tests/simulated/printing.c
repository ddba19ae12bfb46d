// Prints without flushing, with pauses: `own` sets a buffer of its own first.
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { kPauseMilliseconds = 1 };

int main(int count, char** words) {
  const char* const name = count > 1 ? words[1] : "lines";
  if (strcmp(name, "own") == 0) setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
  for (int i = 1; i <= 3; ++i) {
    printf("%s %d\n", name, i);
    poll(NULL, 0, kPauseMilliseconds);
  }
  printf("%s ends", name);
  return 0;
}
