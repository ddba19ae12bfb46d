// A library by the system's name that has none of its functions.
extern "C" const int kNothing = 0;
