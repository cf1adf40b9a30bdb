// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <drm/drm_gem.h>

unsigned long probe(struct file *file);
unsigned long probe(struct file *file)
{
	return drm_gem_get_unmapped_area(file, 0, 0, 0, 0);
}
