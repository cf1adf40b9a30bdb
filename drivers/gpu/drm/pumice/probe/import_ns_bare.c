// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <linux/module.h>

MODULE_IMPORT_NS(DMA_BUF);
