#include "trace/trace-hw_pumice.h"
