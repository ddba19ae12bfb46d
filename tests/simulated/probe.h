// What the parts of the probe have in common.
#pragma once

void print_bytes(const char* what, const unsigned char* bytes, long size);
void print_file(const char* path);
void print_link(const char* path);
void print_directory(const char* path);
/// The result of a system call, or its errno.
void print_result(const char* what, long result);

// probe_objects.c
void random_numbers(void);
void objects(void);
void sockets(void);
void ipc(void);
void processes(void);

// probe_files.c
void files_of_machine(void);
void files_of_process(void);
void directories(void);
void states(void);
