# SPDX-License-Identifier: MIT
#
# Pumice: entry points. `make help` lists them.
#
# This file defines the dependencies; the work is done by scripts/ (see
# scripts/README.md), meson, the firmware's Makefile and the kernel's Kbuild.
# Each part has a stamp or a product in build/, compared with its sources, so
# that a run with nothing to do takes well under a second.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

top := $(CURDIR)
export BUILD ?= $(top)/build
export OUT ?= $(top)/out
export JOBS ?= $(shell nproc)
export PUMICE_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pumice
export TESTS WERROR QEMU_SRC QEMU_VERSION KDIR KERNEL_IMAGE KMODULES DEBIAN_MIRROR

# Configuration of the virtual GPU, for run and shell.
export CORES ?= 4
export THREADS ?= 2
# yes: missing Debian packages are installed; no: a build uses what there is.
export PUMICE_PACKAGES ?= yes
$(if $(filter yes no,$(PUMICE_PACKAGES)),,$(error PUMICE_PACKAGES=$(PUMICE_PACKAGES): yes or no))
# Debuggers of make shell, and host programs copied to its guest.
export GDB TOOLS
# Recipes read these from the environment, in which quotation marks are characters like others; those of
# more than one word without its expansion of patterns (set -f).
export PARAMETERS ONLY SHARD BASE IGT_SRC

# Variables of the command line; a misspelled one would be ignored by make.
variables := BUILD OUT JOBS PUMICE_CACHE PUMICE_PACKAGES TESTS WERROR CC CXX CFLAGS LDFLAGS \
	QEMU_SRC QEMU_VERSION IGT_SRC KDIR KERNEL_IMAGE KMODULES KERNELS DEBIAN_MIRROR \
	BASE CORES THREADS GDB TOOLS PARAMETERS PREFIX DESTDIR \
	DEBUG_TESTS IGT_TESTS KERNEL_TESTS PRESET_TESTS STRICT_TESTS TSAN_TESTS ONLY SHARD TARGETS \
	FUZZ_SECONDS DISTROS DISTRO_COMMANDS DISTRO_CLEAN
overridden := $(foreach v,$(.VARIABLES),$(if $(findstring command line,$(origin $v)),$v))
unknown := $(filter-out $(variables) MAKE%,$(overridden))
$(if $(unknown),$(error unknown variable $(unknown); known: $(variables)))

S := $(top)/scripts

# sources FOLDER…: every file in them that git may track.
sources = $(shell find $(1) -type f -not -name '*.pyc' 2>/dev/null)

# setting NAME VALUE: a file updated whenever the value
# changes, for rules whose product depends on a variable.
setting = $(shell mkdir -p $(BUILD) && echo '$(subst ','\'',$(2))' >$(BUILD)/.new-$(1) && \
	{ cmp -s $(BUILD)/.new-$(1) $(BUILD)/.set-$(1) || \
	cp $(BUILD)/.new-$(1) $(BUILD)/.set-$(1); })$(BUILD)/.set-$(1)

packages := $(BUILD)/.packages-run
gen := $(BUILD)/gen/.done
firmware := $(BUILD)/firmware/pumice_fw.bin
# Each with a seeded defect, for tests of the driver.
firmware_defects := DEAF REFUSE
firmware_tests := $(firmware_defects:%=$(BUILD)/firmware-%/pumice_fw.bin)
native := $(BUILD)/native/.done
asan := $(BUILD)/asan/.done
tsan := $(BUILD)/tsan/.done
coverage := $(BUILD)/coverage/.done
qemu := $(BUILD)/qemu$(addprefix -,$(QEMU_VERSION))/qemu-system-x86_64
export PUMICE_QEMU := $(qemu)
stock := $(BUILD)/kernel/.stock
fast := $(BUILD)/kernel/.fast
debug := $(BUILD)/kernel/.debug
# Debian's newer kernels, by series.
KERNELS ?= 7.2 7.3
export KERNELS
stock_module := $(BUILD)/module/stock.ko
fast_module := $(BUILD)/module/fast.ko
debug_module := $(BUILD)/module/debug.ko
kunit_module := $(BUILD)/module/kunit.ko
# Installed library, and programs built with it.
examples := $(BUILD)/examples/.done
guest := $(BUILD)/guest/stock.cpio $(BUILD)/guest/programs.cpio

hw_sources := $(call sources,hw)
gpu_sources := $(call sources,qemu-device)
user_sources := $(call sources,userspace tests/unit tests/firmware tests/qemu tests/fixture tests/guest tests/igt tests/bench tests/fuzz) meson.build
module_sources := $(call sources,drivers uapi) Kbuild

##@ Use

.PHONY: run
run: $(qemu) $(guest) ## boot a guest, run the demos, leave pictures in out/
	@$(S)/run.sh

.PHONY: shell
shell: $(qemu) $(guest) $(if $(TOOLS),$(BUILD)/guest/tools.cpio) ## a prompt in the guest with the GPU (GDB=1 TOOLS="strace gdb"; leave with: exit)
	@$(S)/shell.sh

# Load the products of `make module` and `make firmware` in the guest of `make shell`.
.PHONY: reload
reload: $(stock_module) $(firmware) ## this tree's driver and firmware into the guest of make shell (PARAMETERS="job_timeout_ms=60000")
	@$(S)/reload.py --module $(stock_module) --firmware $(firmware) --parameters "$${PARAMETERS-}"

##@ Test

.PHONY: check
check: ## the tests, about an hour the first time, less later; check-debug, -docs, -igt, -pairs, -kernels, -presets, -strict, -qemu, -distros and tsan run more
	@$(S)/check.sh lint unit builds -- guest debug igt kernels presets strict docs mutations tsan

.PHONY: check-unit
check-unit: ## blocks, library, assembler, firmware, generator; all plain and under ASan and UBSan (TESTS=)
	@UNIT_TESTS=all $(S)/check.sh unit

.PHONY: tsan
tsan: ## tests of threads under ThreadSanitizer
	@TSAN_TESTS=all $(S)/check.sh tsan

.PHONY: check-builds
check-builds: ## warnings as errors: Debian 13's GCC and clang, the device in QEMU
	@$(S)/check.sh builds

.PHONY: check-guest
check-guest: ## ioctls, jobs and faults in a guest with Debian's kernel (TESTS="t_submit t_sync:CASE")
	@$(S)/check.sh guest

.PHONY: check-docs
check-docs: ## every command of README and tutorials in a copy of the tree; links, pictures
	@DOCS_TESTS=all $(S)/check.sh docs

.PHONY: check-debug
check-debug: ## every guest test, races, failing allocations, ioctl fuzzing, IGT on the debug kernel
	@DEBUG_TESTS=all $(S)/check.sh debug

.PHONY: check-pairs
check-pairs: ## every ioctl at the same time as every other, on the debug kernel (about 105 minutes)
	@$(S)/check.sh pairs

.PHONY: check-presets
check-presets: ## every test of results with the GPU of each preset, in process and in guests
	@PRESET_TESTS=all $(S)/check.sh presets

.PHONY: check-strict
check-strict: $(native) ## seeded errors that mode strict must report, a line each; then all tests of results in it
	@failed=0; \
	for program in zoo hosts driver jobs frames signals; do \
		PUMICE_FIRMWARE=$(BUILD)/native/userspace/libpumice/pumice_fw.bin \
		PUMICE_FIRMWARE_EARLY=$(BUILD)/native/userspace/libpumice/pumice_fw_early.bin \
			$(BUILD)/native/tests/strict/$$program || failed=1; \
	done; \
	exit $$failed
	@PUMICE_FIRMWARE=$(BUILD)/native/userspace/libpumice/pumice_fw.bin CMOCKA_MESSAGE_OUTPUT=TAP \
		$(BUILD)/native/tests/strict/test_strict_rays
	@CMOCKA_MESSAGE_OUTPUT=TAP $(BUILD)/native/tests/unit/pm/test_pm_owners
	@CMOCKA_MESSAGE_OUTPUT=TAP $(BUILD)/native/tests/unit/ipf/test_ipf_owners
	@PUMICE_FIRMWARE=$(BUILD)/native/userspace/libpumice/pumice_fw.bin CMOCKA_MESSAGE_OUTPUT=TAP \
		$(BUILD)/native/tests/firmware/test_firmware_strict
	@PUMICE_FIRMWARE=$(BUILD)/native/userspace/libpumice/pumice_fw_drop.bin CMOCKA_MESSAGE_OUTPUT=TAP \
		$(BUILD)/native/tests/firmware/test_firmware_dropped
	@STRICT_TESTS=all $(S)/check.sh strict

.PHONY: check-igt
check-igt: ## upstream IGT on the small kernel and on Debian's (TESTS="pumice_fence pumice_gem@*")
	@IGT_TESTS=all $(S)/check.sh igt

.PHONY: check-kernels
check-kernels: ## every guest test on Debian's newer kernels too (KERNELS="7.2 7.3")
	@KERNEL_TESTS=all $(S)/check.sh kernels

.PHONY: check-qemu
check-qemu: ## the PCI device and the guest tests on another QEMU (QEMU_VERSION=10.2, QEMU_SRC=)
	@$(S)/check.sh qemu

.PHONY: check-deb
check-deb: ## the Debian packages, built in a copy of the tree, and their contents
	@$(S)/check.sh deb

.PHONY: check-distros
check-distros: $(BUILD)/.packages-distros ## make run and make check in fresh Debian 12, 13, testing (DISTROS="trixie" DISTRO_COMMANDS="run")
	@$(S)/check.sh distros

# Products of this tree that the mutations' tests need; they build the rest themselves.
.PHONY: mutations
mutations: $(qemu) $(BUILD)/guest/programs.cpio $(BUILD)/guest/igt.cpio $(fast) | $(BUILD)/.packages-check ## every seeded error must be found; hours (ONLY="cdm-* firmware" SHARD=1/4)
	@set -f; $(S)/mutations.py $${ONLY-} $(if $(SHARD),--shard "$$SHARD")

.PHONY: fuzz
fuzz: $(gen) | $(packages) $(BUILD)/.packages-fuzz ## search with libFuzzer (TARGETS="mmio stream" FUZZ_SECONDS=120)
	@$(S)/fuzz.sh

.PHONY: bench
bench: $(BUILD)/.packages-bench $(qemu) $(guest) ## figures against PoCL and in a guest; out/bench.json
	@$(S)/bench.py

.PHONY: bench-against
bench-against: $(BUILD)/.packages-bench $(qemu) $(guest) ## the same against an earlier commit (BASE=COMMIT)
	@$(if $(BASE),,$(error name a commit: make bench-against BASE=COMMIT))$(S)/bench_against.py "$$BASE"

.PHONY: bench-growth
bench-growth: $(BUILD)/.packages-bench-growth $(native) ## growth of costs with draws, pixels, mappings, …: plots in Documentation (5 minutes)
	@/usr/bin/python3 $(S)/bench_growth.py

.PHONY: coverage
coverage: $(coverage) $(firmware) | $(BUILD)/.packages-coverage ## lines that the unit tests reach: out/coverage (TESTS=)
	@$(S)/coverage.py

.PHONY: lint
lint: ## style, licences, sizes, static checks
	@LINT_CHECKS=all $(S)/check.sh lint

##@ Build

.PHONY: all
all: $(qemu) $(guest) ## everything that run needs

# With PUMICE_PACKAGES=no there is no stamp, so that a later make without it installs them.
.PHONY: packages
packages: $(packages) ## install missing Debian packages, as other targets do without PUMICE_PACKAGES=no
$(BUILD)/.packages-%: scripts/packages.txt
	@[ $(PUMICE_PACKAGES) = no ] || { $(S)/host-packages.sh $* && mkdir -p $(@D) && touch $@; }

.PHONY: gen
gen: $(gen) ## headers, decoders and reference pages from hw/
$(gen): $(hw_sources) | $(packages)
	@mkdir -p $(@D)
	@flock $(BUILD)/gen.lock python3 hw/gen.py --out $(BUILD)/gen
	@touch $@

.PHONY: firmware
firmware: $(firmware) ## the GPU's firmware
$(firmware): $(gen) $(call sources,firmware) | $(packages)
	@$(S)/step.sh firmware "building the firmware" \
		$(MAKE) -C firmware O=$(BUILD)/firmware GEN=$(BUILD)/gen
	@touch $@
$(firmware_tests): $(BUILD)/firmware-%/pumice_fw.bin: $(gen) $(call sources,firmware) | $(packages)
	@$(S)/step.sh firmware-$* "building the firmware with defect $*" \
		$(MAKE) -C firmware O=$(@D) GEN=$(BUILD)/gen TEST=$*
	@touch $@

.PHONY: native
native: $(native) ## GPU core, library, tools, demos
$(native): $(gen) $(hw_sources) $(gpu_sources) $(user_sources) $(call sources,uapi) | $(packages)
	@$(S)/build-native.sh native --buildtype=debugoptimized

# Line numbers and functions are all that reports need; UBSan's data has half a million relocations a
# program. With all debug information and plain relocations the folder has twice the size. An access by
# a null pointer or one that has overflowed, or past an object, is a report of ASan's: with UBSan's checks
# of the pointers, too, objects of the interpreter are a third larger.
.PHONY: asan
asan: $(asan) ## the same under ASan and UBSan
$(asan): $(gen) $(hw_sources) $(gpu_sources) $(user_sources) $(call sources,uapi) | $(packages)
	@$(S)/build-native.sh asan -Db_sanitize=address,undefined -Db_lundef=false \
		-Dc_args="-g1 -fno-sanitize=null,pointer-overflow,object-size" \
		-Dc_link_args=-Wl,-z,pack-relative-relocs

# The same with counters of executed lines.
$(coverage): $(gen) $(hw_sources) $(gpu_sources) $(user_sources) $(call sources,uapi) | $(packages)
	@$(S)/build-native.sh coverage -Db_coverage=true

# Only the tests of threads; GCC warns of fences that ThreadSanitizer does not support.
$(tsan): $(gen) $(hw_sources) $(gpu_sources) $(user_sources) $(call sources,uapi) | $(packages)
	@TARGETS=threads $(S)/build-native.sh tsan -Db_sanitize=thread -Db_lundef=false -Dc_args=-Wno-tsan

.PHONY: qemu
qemu: $(qemu) ## QEMU with the device (QEMU_VERSION=10.2, or QEMU_SRC= for your own source)
$(qemu): $(call setting,qemu,$(QEMU_SRC)) $(gen) $(gpu_sources) scripts/build-qemu.sh scripts/qemu-hooks.py | $(packages)
	@$(S)/build-qemu.sh $@

.PHONY: kernels
kernels: $(stock) $(fast) $(debug) $(KERNELS:%=$(BUILD)/kernel/.series-%) ## Debian's kernels, the small test kernel, the debug kernel
$(stock): $(call setting,kernel,$(KDIR) $(KERNEL_IMAGE) $(KMODULES)) scripts/stock-kernel.sh | $(packages)
	@mkdir -p $(@D) && kernel=$$($(S)/stock-kernel.sh) && ln -sfn "$$kernel" $(@D)/stock
	@touch $@
$(debug): scripts/kernel/debug.config
$(fast) $(debug): $(BUILD)/kernel/.%: scripts/build-kernel.sh scripts/kernel/fast.config \
		| $(packages) $(BUILD)/.packages-check
	@mkdir -p $(@D) && kernel=$$($(S)/build-kernel.sh $*) && ln -sfn "$$kernel" $(@D)/$*
	@touch $@

$(KERNELS:%=$(BUILD)/kernel/.series-%): $(BUILD)/kernel/.series-%: scripts/stock-kernel.sh \
		scripts/build-root.sh | $(packages)
	@mkdir -p $(@D) && kernel=$$($(S)/stock-kernel.sh $*) && ln -sfn "$$kernel" $(@D)/$*
	@touch $@

.PHONY: module
module: $(stock_module) ## the kernel module (KDIR= and KERNEL_IMAGE= for your own kernel)
$(stock_module): $(gen) $(module_sources) scripts/build-module.sh $(stock) | $(packages)
	@$(S)/build-module.sh $(BUILD)/kernel/stock $@
$(fast_module): $(gen) $(module_sources) scripts/build-module.sh $(fast) | $(packages)
	@$(S)/build-module.sh $(BUILD)/kernel/fast $@
$(debug_module): $(gen) $(module_sources) scripts/build-module.sh $(debug) | $(packages)
	@$(S)/build-module.sh $(BUILD)/kernel/debug $@
# The module with its KUnit tests, which run when it is loaded.
$(kunit_module): $(gen) $(module_sources) scripts/build-module.sh $(debug) | $(packages)
	@MODULE_WORK=$(BUILD)/module/kunit $(S)/build-module.sh $(BUILD)/kernel/debug $@ \
		CONFIG_DRM_PUMICE_KUNIT_TEST=y

$(KERNELS:%=$(BUILD)/module/%.ko): $(BUILD)/module/%.ko: $(gen) $(module_sources) \
		scripts/build-module.sh $(BUILD)/kernel/.series-% | $(packages)
	@$(S)/build-module.sh $(BUILD)/kernel/$* $@ W=1 KCFLAGS=-Werror

# The guest's initramfs, in parts: see scripts/make-image.py.
image_sources := $(call sources,scripts/image scripts/guest) scripts/make-image.py
program_folders := $(addprefix $(BUILD)/native/,userspace/compiler userspace/tools \
	userspace/demos tests/guest tests/bench/guest)

image_firmware := --firmware $(firmware) \
	$(foreach defect,$(firmware_defects),--test-firmware \
		$(defect)=$(BUILD)/firmware-$(defect)/pumice_fw.bin)

$(BUILD)/guest/stock.cpio: $(stock_module) $(firmware) $(firmware_tests) $(image_sources)
	@$(S)/make-image.py base $@ --kernel $(BUILD)/kernel/stock --module $(stock_module) \
		$(image_firmware) --kmod vgem
$(BUILD)/guest/fast.cpio: $(fast_module) $(firmware) $(firmware_tests) $(image_sources)
	@$(S)/make-image.py base $@ --kernel $(BUILD)/kernel/fast --module $(fast_module) \
		$(image_firmware) $(addprefix --kmod ,vgem dmabuf_selftests drm_mm_test) \
		--kmod-if-built drm_buddy_test
$(BUILD)/guest/debug.cpio: $(debug_module) $(kunit_module) $(firmware) $(firmware_tests) \
		$(image_sources)
	@$(S)/make-image.py base $@ --kernel $(BUILD)/kernel/debug --module $(debug_module) \
		--kunit $(kunit_module) $(image_firmware) --kmod vgem
$(KERNELS:%=$(BUILD)/guest/%.cpio): $(BUILD)/guest/%.cpio: $(BUILD)/module/%.ko $(firmware) \
		$(firmware_tests) $(image_sources)
	@$(S)/make-image.py base $@ --kernel $(BUILD)/kernel/$* --module $< \
		$(image_firmware) --kmod vgem
# Not what `make -C examples` builds, nor the pictures that its programs write.
$(examples): $(native) $(wildcard examples/Makefile examples/*.c examples/*.h) scripts/build-examples.sh
	@$(S)/step.sh examples "building the examples against the installed library" \
		$(S)/build-examples.sh $(@D)
	@touch $@
$(BUILD)/guest/programs.cpio: $(native) $(examples) $(image_sources)
	@$(S)/make-image.py programs --examples $(BUILD)/examples/src $@ $(program_folders)
$(BUILD)/guest/tools.cpio: $(call setting,tools,$(TOOLS)) $(image_sources)
	@set -f; $(S)/make-image.py tools $@ $$TOOLS
$(BUILD)/guest/igt.cpio: scripts/igt.py scripts/fetch-igt.sh $(call sources,tests/igt) \
		$(native) $(image_sources) | $(packages)
	@root=$$($(S)/fetch-igt.sh) && mkdir -p $(@D) && $(S)/igt.py image "$$root" $@

.PHONY: images
images: $(guest) ## the guest's initramfs
.PHONY: images-fast
images-fast: $(BUILD)/guest/fast.cpio $(BUILD)/guest/programs.cpio $(BUILD)/guest/igt.cpio ## the same for the small kernel, and the image with IGT's programs
.PHONY: images-debug
images-debug: $(BUILD)/guest/debug.cpio $(BUILD)/guest/programs.cpio ## the same for the debug kernel

.PHONY: docs
docs: $(gen) $(BUILD)/.packages-docs ## the documentation, as a site in build/docs
	@$(S)/step.sh docs "building the documentation" \
		/usr/bin/python3 -m sphinx -b html -W --keep-going -j auto Documentation $(BUILD)/docs
	@echo "open $(BUILD)/docs/index.html"

# Not part of make check, which needs no network.
.PHONY: linkcheck
linkcheck: $(gen) $(BUILD)/.packages-docs ## external addresses of the documentation; needs a network
	@$(S)/step.sh linkcheck "testing external links" \
		/usr/bin/python3 -m sphinx -b linkcheck -q -j auto Documentation $(BUILD)/linkcheck

.PHONY: igt-in-tree
igt-in-tree: $(gen) ## our IGT tests into an IGT source tree, and build that (IGT_SRC=DIR)
	@$(S)/igt-in-tree.py --build "$${IGT_SRC-}"

##@ Install

export PREFIX ?= /usr/local
export DESTDIR

# install.sh builds what it installs: results of root in the tree of a user are returned at its end.
.PHONY: install
install: ## library, tools, firmware, driver sources for DKMS (PREFIX=/usr/local DESTDIR=)
	@$(S)/install.sh --make gen firmware
.PHONY: install-qemu
install-qemu: ## QEMU with the device, as the command pumice-qemu (PREFIX= DESTDIR=)
	@$(S)/install.sh qemu --make qemu

.PHONY: deb
deb: $(BUILD)/.packages-deb ## Debian packages in out/deb (DEB_BUILD_PROFILES=pkg.pumice.noqemu leaves QEMU out)
	@$(S)/step.sh deb "building Debian packages" dpkg-buildpackage -b -us -uc
	@mkdir -p $(OUT)/deb && mv ../*pumice*_*.deb ../pumice_*.buildinfo ../pumice_*.changes $(OUT)/deb/
	@ls $(OUT)/deb

.PHONY: dist
dist: docs ## the release archive, with the rendered documentation
	@$(S)/dist.sh

##@ Care

.PHONY: clean
clean: ## remove build/ and out/; keep the cache
	@rm -rf $(BUILD) $(OUT)

.PHONY: clean-cache
clean-cache: ## remove the cache (QEMU, kernels, IGT): the next build is a cold one
	@rm -rf $(PUMICE_CACHE)

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## "; print "make TARGET" } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile
	@printf '\nSettings: CORES=4 THREADS=2 JOBS=%s PUMICE_PACKAGES=no QEMU_SRC= KDIR= KERNEL_IMAGE= PUMICE_CACHE= WERROR=1\n' $(JOBS)
