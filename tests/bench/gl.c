// SPDX-License-Identifier: MIT
/*
 * OpenGL ES 3 without a window: EGL's surfaceless platform, a framebuffer object,
 * two small shaders equivalent to the GPU's programs.
 *
 * Limits: one context; llvmpipe is selected by LIBGL_ALWAYS_SOFTWARE, and
 * gl_renderer() returns the renderer in use.
 */
#include <stdlib.h>

#include <stddef.h>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>

#include "common.h"
#include "gl.h"

static const char vertex_text[] =
	"#version 300 es\n"
	"layout(location = 0) in vec3 position;\n"
	"layout(location = 1) in vec3 value;\n"
	"out vec3 v;\n"
	"void main() { gl_Position = vec4(position, 1.0); v = value; }\n";

static const char texture_text[] =
	"#version 300 es\n"
	"precision highp float;\n"
	"uniform sampler2D t;\n"
	"uniform vec4 add;\n"
	"in vec3 v;\n"
	"out vec4 colour;\n"
	"void main() { colour = texture(t, v.xy) + add; }\n";

static const char colour_text[] =
	"#version 300 es\n"
	"precision highp float;\n"
	"uniform vec4 add;\n"
	"in vec3 v;\n"
	"out vec4 colour;\n"
	"void main() { colour = vec4(v, 1.0) + add; }\n";

static const char lit_text[] =
	"#version 300 es\n"
	"precision highp float;\n"
	"uniform vec4 add;\n"
	"in vec3 v;\n"
	"out vec4 colour;\n"
	"void main() {\n"
	"float cosine = max(dot(vec3(v.xy, 1.0), vec3(0.25, 0.5, 0.75)) *\n"
	"	inversesqrt(dot(v.xy, v.xy) + 1.0), 0.0);\n"
	"float two = cosine * cosine, four = two * two, eight = four * four * 0.25;\n"
	"colour = vec4(cosine * vec3(0.5, 0.25, 0.75) + eight, 1.0) + add;\n"
	"}\n";

void gl_open(struct gl *gl)
{
	static const EGLint attributes[] = { EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE };
	PFNEGLGETPLATFORMDISPLAYEXTPROC get;

	setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
	get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)(void (*)(void))
		eglGetProcAddress("eglGetPlatformDisplayEXT");
	if (!get)
		bench_fail("EGL has no platforms");
	gl->display = get(EGL_PLATFORM_SURFACELESS_MESA, NULL, NULL);
	if (gl->display == EGL_NO_DISPLAY || !eglInitialize(gl->display, NULL, NULL) ||
	    !eglBindAPI(EGL_OPENGL_ES_API))
		bench_fail("EGL cannot draw without a surface");
	gl->context = eglCreateContext(gl->display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
	if (gl->context == EGL_NO_CONTEXT ||
	    !eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, gl->context))
		bench_fail("no OpenGL ES 3");
}

void gl_close(struct gl *gl)
{
	eglMakeCurrent(gl->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
	eglDestroyContext(gl->display, gl->context);
	eglTerminate(gl->display);
}

const char *gl_renderer(void)
{
	return (const char *)glGetString(GL_RENDERER);
}

static unsigned int compile(GLenum type, const char *text)
{
	unsigned int shader = glCreateShader(type);
	char log[512];
	int good;

	glShaderSource(shader, 1, &text, NULL);
	glCompileShader(shader);
	glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
	if (!good) {
		glGetShaderInfoLog(shader, sizeof(log), NULL, log);
		bench_fail("OpenGL refuses a shader: %s", log);
	}
	return shader;
}

static unsigned int make_program(const char *fragment_text)
{
	unsigned int program = glCreateProgram();
	unsigned int vertex = compile(GL_VERTEX_SHADER, vertex_text);
	unsigned int fragment = compile(GL_FRAGMENT_SHADER, fragment_text);
	int good;

	glAttachShader(program, vertex);
	glAttachShader(program, fragment);
	glLinkProgram(program);
	glGetProgramiv(program, GL_LINK_STATUS, &good);
	if (!good)
		bench_fail("OpenGL cannot link the shaders");
	glDeleteShader(vertex);
	glDeleteShader(fragment);
	return program;
}

/* Draw to samples, which are averaged in the texture. */
static void make_samples(int size, struct gl_work *work)
{
	glGenFramebuffers(1, &work->drawn);
	glBindFramebuffer(GL_FRAMEBUFFER, work->drawn);
	glGenRenderbuffers(1, &work->sampled);
	glBindRenderbuffer(GL_RENDERBUFFER, work->sampled);
	glRenderbufferStorageMultisample(GL_RENDERBUFFER, work->samples, GL_RGBA8, size, size);
	glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
				  work->sampled);
}

static void make_target(const struct draw_scene *scene, struct gl_work *work)
{
	int size = (int)scene->size;

	glGenFramebuffers(1, &work->framebuffer);
	glBindFramebuffer(GL_FRAMEBUFFER, work->framebuffer);
	glGenTextures(1, &work->colour);
	glBindTexture(GL_TEXTURE_2D, work->colour);
	glTexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, size, size);
	glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, work->colour,
			       0);
	if (work->samples)
		make_samples(size, work);
	if (scene->depth) {
		glGenRenderbuffers(1, &work->depth);
		glBindRenderbuffer(GL_RENDERBUFFER, work->depth);
		glRenderbufferStorageMultisample(GL_RENDERBUFFER, work->samples,
						 GL_DEPTH_COMPONENT32F, size, size);
		glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
					  work->depth);
	}
	if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
		bench_fail("OpenGL has no such target");
}

static void make_texture(const struct draw_scene *scene, struct gl_work *work)
{
	int size = (int)scene->texture_size;

	glGenTextures(1, &work->texture);
	glBindTexture(GL_TEXTURE_2D, work->texture);
	glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE,
		     scene->texture);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_REPEAT);
	glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_REPEAT);
}

/* Let the attributes begin at a vertex of the buffer. */
static void set_pointers(uint32_t first)
{
	const uintptr_t at = first * sizeof(struct draw_vertex);

	glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, sizeof(struct draw_vertex),
			      (const void *)at);
	glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof(struct draw_vertex),
			      (const void *)(at + offsetof(struct draw_vertex, a)));
}

static void make_vertices(const struct draw_scene *scene, struct gl_work *work)
{
	glGenVertexArrays(1, &work->array);
	glBindVertexArray(work->array);
	glGenBuffers(1, &work->buffer);
	glBindBuffer(GL_ARRAY_BUFFER, work->buffer);
	glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(scene->vertices * sizeof(*scene->vertex)),
		     scene->vertex, GL_STATIC_DRAW);
	set_pointers(0);
	glEnableVertexAttribArray(0);
	glEnableVertexAttribArray(1);
}

void gl_work(const struct draw_scene *scene, struct gl_work *work)
{
	*work = (struct gl_work){
		.size = scene->size, .vertices = scene->vertices, .draws = scene->draws,
		.tests_depth = scene->depth, .blends = scene->blend, .uniforms = scene->uniforms,
		.samples = scene->samples > 1 ? (int)scene->samples : 0,
	};
	make_target(scene, work);
	if (scene->texture)
		make_texture(scene, work);
	make_vertices(scene, work);
	work->program = make_program(scene->lit ? lit_text :
				     scene->texture ? texture_text : colour_text);
	work->add = glGetUniformLocation(work->program, "add");
	if (glGetError() != GL_NO_ERROR)
		bench_fail("OpenGL cannot load the scene");
}

void gl_work_free(struct gl_work *work)
{
	glDeleteProgram(work->program);
	glDeleteBuffers(1, &work->buffer);
	glDeleteVertexArrays(1, &work->array);
	glDeleteTextures(1, &work->texture);
	glDeleteTextures(1, &work->colour);
	glDeleteRenderbuffers(1, &work->depth);
	glDeleteRenderbuffers(1, &work->sampled);
	glDeleteFramebuffers(1, &work->drawn);
	glDeleteFramebuffers(1, &work->framebuffer);
}

/* llvmpipe does not flip framebuffer objects: y points down here, and up there. */
void gl_run(struct gl_work *work)
{
	const uint32_t part = draw_part(work->vertices, work->draws);
	uint32_t at;

	glBindFramebuffer(GL_FRAMEBUFFER, work->samples ? work->drawn : work->framebuffer);
	glViewport(0, 0, (int)work->size, (int)work->size);
	glUseProgram(work->program);
	glBindVertexArray(work->array);
	glBindBuffer(GL_ARRAY_BUFFER, work->buffer);
	glBindTexture(GL_TEXTURE_2D, work->texture);
	if (work->tests_depth)
		glEnable(GL_DEPTH_TEST);
	else
		glDisable(GL_DEPTH_TEST);
	if (work->blends)
		glEnable(GL_BLEND);
	else
		glDisable(GL_BLEND);
	glBlendColor(0, 0, 0, 0.5f);
	glBlendFunc(GL_CONSTANT_ALPHA, GL_ONE_MINUS_CONSTANT_ALPHA);
	glDepthFunc(GL_LESS);
	glClearColor(0, 0, 0, 0);
	glClearDepthf(1);
	glClear(GL_COLOR_BUFFER_BIT | (work->tests_depth ? GL_DEPTH_BUFFER_BIT : 0u));
	for (at = 0; at < work->vertices; at += part) {
		if (work->draws)
			set_pointers(at);
		if (work->uniforms)
			glUniform4f(work->add, 0, 0, 0, 0);
		glDrawArrays(GL_TRIANGLES, 0, (int)part);
	}
	if (work->samples) {
		glBindFramebuffer(GL_READ_FRAMEBUFFER, work->drawn);
		glBindFramebuffer(GL_DRAW_FRAMEBUFFER, work->framebuffer);
		glBlitFramebuffer(0, 0, (int)work->size, (int)work->size, 0, 0, (int)work->size,
				  (int)work->size, GL_COLOR_BUFFER_BIT, GL_NEAREST);
	}
	glFinish();
}

void gl_read(struct gl_work *work, uint32_t *pixels)
{
	glBindFramebuffer(GL_FRAMEBUFFER, work->framebuffer);
	glReadPixels(0, 0, (int)work->size, (int)work->size, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
	if (glGetError() != GL_NO_ERROR)
		bench_fail("OpenGL returns no picture");
}
