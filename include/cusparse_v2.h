// The header's name of long ago.
#include "cusparse.h"
