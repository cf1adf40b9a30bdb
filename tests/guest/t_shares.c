// SPDX-License-Identifier: MIT
/* Shares of the data masters: pds_shares in debugfs, and the limits that follow from it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "parameters.h"
#include "render.h"
#include "system.h"

#define TEXT_BYTES	512
#define POLL_US		10000
#define POLLS		1000
#define UNPRIVILEGED	1234
#define PATIENT_MS	60000	/* of jobs that are not to time out */

static const char *shares_path(void)
{
	static char path[256];

	CHECK(debugfs_path("pds_shares", path, sizeof(path)));
	return path;
}

static const char *shares(void)
{
	static char text[TEXT_BYTES];
	FILE *file = fopen(shares_path(), "re");
	size_t bytes;

	CHECK(file);
	bytes = fread(text, 1, sizeof(text) - 1, file);
	text[bytes] = '\0';
	fclose(file);
	return text;
}

/* Wait until the file has a text: jobs start and end meanwhile. */
static void need_text(const char *text)
{
	u32 i;

	for (i = 0; i < POLLS && !strstr(shares(), text); i++)
		usleep(POLL_US);
	if (!strstr(shares(), text))
		fprintf(stderr, "'%s' is not in: %s", text, shares());
	CHECK(strstr(shares(), text));
}

static void set_shares(const char *text)
{
	CHECK_OK(write_file(shares_path(), text));
}

static void set_defaults(void)
{
	set_shares("cdm=default vdm=default pdm=default rdm=default policy=graphics");
}

static void shares_are_set_by_name(void)
{
	struct fixture fx = fx_open();

	/* It is awake: an idle GPU sleeps, and has no limits. */
	fx_block(&fx);
	CHECK(strstr(shares(), "cdm: 128/256 (default), tasks all, unified all, common all, local all\n"));
	CHECK(strstr(shares(), "vdm: 128/256 (default), tasks all, unified all, common all\n"));
	CHECK(strstr(shares(), "pdm: 192/256 (default), tasks all, unified all, common all\n"));
	CHECK(strstr(shares(), "rdm: 128/256 (default), tasks all, unified all, common all\n"));
	set_shares("cdm=64 pdm=none\n");
	CHECK(strstr(shares(), "cdm: 64/256,"));
	CHECK(strstr(shares(), "vdm: 128/256 (default),"));
	CHECK(strstr(shares(), "pdm: none,"));
	set_shares("pdm=254 vdm=1 rdm=3");
	CHECK(strstr(shares(), "cdm: 64/256,"));
	CHECK(strstr(shares(), "vdm: 1/256,"));
	CHECK(strstr(shares(), "pdm: 254/256,"));
	CHECK(strstr(shares(), "rdm: 3/256,"));
	set_defaults();
	CHECK(strstr(shares(), "cdm: 128/256 (default),"));
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
}

/* Assert the policy, and that the firmware has set it when a job has started. */
static void check_policy(const char *name)
{
	struct fixture fx = fx_open();
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text), "policy: %s", name);
	CHECK(strstr(shares(), text));
	fx_block(&fx);
	snprintf(text, sizeof(text), "policy: %s, now %s\n", name, name);
	need_text(text);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
}

static void the_policy_is_set_by_its_name(void)
{
	check_policy("graphics");
	set_shares("policy=round-robin vdm=32\n");
	CHECK(strstr(shares(), "vdm: 32/256"));
	check_policy("round-robin");
	set_shares("policy=pdm-vdm-cdm");
	check_policy("pdm-vdm-cdm");
	set_defaults();
	check_policy("graphics");
}

static void words_that_are_not_shares_change_nothing(void)
{
	static const char *const bad[] = {
		"cdm", "cdm=", "cdm=0", "cdm=255", "cdm=256", "cdm=-1", "cdm=0x10", "cdm=all",
		"tdm=64", "=64", "vdm=64 cdm", "vdm=64 cdm=300", "cdm=64=64", "cdm=4294967297",
		"policy", "policy=", "policy=cdm", "policy=0", "policy=unknown", "policy=graphics=",
		"policy=round-robin cdm=300", "policy=round-robin policy=vdm",
		("cdm=64 vdm=64 pdm=64 cdm=64 vdm=64 pdm=64 cdm=64 vdm=64 pdm=64 cdm=64 vdm=64 "
		 "pdm=64 cdm=64 vdm=64 pdm=64 cdm=64 vdm=64 pdm=64 cdm=64"),
	};
	struct fixture fx = fx_open();
	char before[TEXT_BYTES];
	u32 i;

	fx_check_works(&fx);
	set_shares("cdm=77");
	snprintf(before, sizeof(before), "%s", shares());
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQUAL(write_file(shares_path(), bad[i]), -EINVAL);
		CHECK(!strncmp(shares(), before, strcspn(before, ",\n")));
		CHECK(strstr(shares(), "vdm: 128/256 (default)"));
		CHECK(strstr(shares(), "policy: graphics"));
	}
	set_shares(" \n cdm=default");
	fx_check_works(&fx);
}

static void only_root_has_access(void)
{
	const char *path = shares_path();
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		if (setuid(UNPRIVILEGED))
			_exit(1);
		_exit(access(path, R_OK) && access(path, W_OK) &&
		      write_file(path, "cdm=1") == -EACCES ? 0 : 2);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* Run jobs that do not end on CDM and VDM; assert the limit of the CDM's tasks. */
static void check_limit(const char *share, u32 part)
{
	struct render r = render_open();
	const u32 slots = need_info(r.fx.fd).slots_per_usc;
	char text[TEXT_BYTES];

	fx_block(&r.fx);
	snprintf(text, sizeof(text), "cdm: %s, tasks all,", share);
	need_text(text);
	render_block(&r);
	snprintf(text, sizeof(text), "cdm: %s, tasks %u,", share, slots * part / 256);
	need_text(text);
	CHECK_OK(gpu_context_destroy(r.fx.fd, r.context));
	snprintf(text, sizeof(text), "cdm: %s, tasks all,", share);
	need_text(text);
	CHECK_OK(gpu_context_destroy(r.fx.fd, r.fx.context));
}

static void limits_apply_while_several_data_masters_have_jobs(void)
{
	check_limit("128/256 (default)", 128);
	set_shares("cdm=64");
	check_limit("64/256", 64);
	set_defaults();
}

/* The firmware starts again. */
static void shares_remain_after_a_reset(void)
{
	set_shares("cdm=32 policy=vdm-cdm-pdm");
	need_flr();
	check_limit("32/256", 32);
	check_policy("vdm-cdm-pdm");
	set_defaults();
}

static const struct test_case cases[] = {
	TEST_CASE(shares_are_set_by_name),
	TEST_CASE(the_policy_is_set_by_its_name),
	TEST_CASE(words_that_are_not_shares_change_nothing),
	TEST_CASE(only_root_has_access),
	TEST_CASE(limits_apply_while_several_data_masters_have_jobs),
	TEST_CASE(shares_remain_after_a_reset),
};

TEST_MAIN_TIMEOUT(cases, PATIENT_MS)
