// SPDX-License-Identifier: MIT
/*
 * Small computations that make a compiler use the whole instruction set: table
 * jumps, recursion, narrow types, 64-bit products, division, misaligned copies.
 * No undefined behaviour, so that two compilers must agree. Memory and stack
 * stay below 4 KiB together.
 */
#include "workload.h"

#define COUNT	128u

static uint32_t seed;

static uint32_t next(void)
{
	seed = seed * 1664525u + 1013904223u;
	return seed;
}

static uint32_t crc32(void)
{
	uint32_t crc = 0xffffffffu;

	for (uint32_t i = 0; i < 1000; i++) {
		crc ^= next() >> 24;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static void sort(int32_t *values, int32_t low, int32_t high)
{
	int32_t pivot, i = low, j = high;

	if (low >= high)
		return;
	pivot = values[low + (high - low) / 2];
	while (i <= j) {
		while (values[i] < pivot)
			i++;
		while (values[j] > pivot)
			j--;
		if (i <= j) {
			int32_t other = values[i];

			values[i++] = values[j];
			values[j--] = other;
		}
	}
	sort(values, low, j);
	sort(values, i, high);
}

static uint32_t sorted_digest(void)
{
	int32_t values[COUNT];
	uint32_t digest = 0;

	for (uint32_t i = 0; i < COUNT; i++)
		values[i] = (int32_t)next();
	sort(values, 0, COUNT - 1);
	for (uint32_t i = 0; i < COUNT; i++)
		digest = digest * 31 + (uint32_t)values[i];
	return digest;
}

static uint32_t wide_products(void)
{
	uint64_t sum = 0;
	int64_t signed_sum = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		uint32_t a = next(), b = next();

		sum += (uint64_t)a * b;
		signed_sum ^= (int64_t)(int32_t)a * (int32_t)b;
		sum ^= (uint64_t)((int64_t)(int32_t)a * (int64_t)(b >> 1));
	}
	return (uint32_t)sum ^ (uint32_t)(sum >> 32) ^ (uint32_t)((uint64_t)signed_sum >> 32);
}

static uint32_t divisions(void)
{
	uint32_t digest = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		int32_t a = (int32_t)next();
		int32_t b = (int32_t)(next() >> 8 | 1) - 0x800000;
		uint32_t c = next() >> (i % 31) | 1;

		b = b == 0 || b == -1 ? 3 : b;
		digest = digest * 33 + (uint32_t)(a / b) + (uint32_t)(a % b);
		digest = digest * 33 + (uint32_t)a / c + (uint32_t)a % c + (uint32_t)(a / 10);
	}
	return digest;
}

static uint32_t narrow_types(void)
{
	int8_t bytes[COUNT + 1];
	int16_t halves[COUNT];
	uint16_t word;
	uint32_t digest = 0;

	for (uint32_t i = 0; i < COUNT; i++) {
		bytes[i] = (int8_t)(next() >> 20);
		halves[i] = (int16_t)(next() >> 12);
	}
	bytes[COUNT] = 1;
	for (uint32_t i = 0; i < COUNT; i++) {
		__builtin_memcpy(&word, &bytes[i], sizeof(word));
		digest = digest * 5 + (uint32_t)(bytes[i] * halves[i] >> 3) + word;
		digest ^= (uint32_t)(uint8_t)bytes[i] << 24 | (uint16_t)halves[i];
	}
	return digest;
}

static uint32_t sieve(void)
{
	uint8_t composite[1024] = { 0 };
	uint32_t sum = 0;

	for (uint32_t i = 2; i < sizeof(composite); i++) {
		if (composite[i])
			continue;
		sum += i;
		for (uint32_t j = i * i; j < sizeof(composite); j += i)
			composite[j] = 1;
	}
	return sum;
}

/* A stack machine with a table jump. */
static uint32_t bytecode(void)
{
	uint32_t a = 1, b = 2;

	for (uint32_t i = 0; i < 2000; i++) {
		switch (next() >> 28) {
		case 0: a += b; break;
		case 1: a -= b; break;
		case 2: a ^= b; break;
		case 3: a |= b >> 3; break;
		case 4: a &= ~b; break;
		case 5: a = a << (b & 31); break;
		case 6: a = a >> (b & 31); break;
		case 7: a = (uint32_t)((int32_t)a >> (b & 31)); break;
		case 8: a *= b | 1; break;
		case 9: a = a < b; break;
		case 10: a = (int32_t)a < (int32_t)b; break;
		case 11: b = a + i; break;
		case 12: b = b << 7 | b >> 25; break;
		case 13: a = b == a ? 5 : a; break;
		case 14: b ^= next(); break;
		default: a ^= 0x12345678; break;
		}
	}
	return a * 3 + b;
}

static uint32_t queens(uint32_t size, uint32_t row, uint32_t columns, uint32_t left, uint32_t right)
{
	uint32_t found = 0;

	if (row == size)
		return 1;
	for (uint32_t i = 0; i < size; i++) {
		uint32_t bit = 1u << i;

		if (!((columns | left | right) & bit))
			found += queens(size, row + 1, columns | bit, (left | bit) << 1,
					(right | bit) >> 1);
	}
	return found;
}

static uint32_t queens_7(void)
{
	return queens(7, 0, 0, 0, 0);
}

uint32_t workload(uint32_t n)
{
	static uint32_t (*const work[WORKLOADS])(void) = {
		crc32, sorted_digest, wide_products, divisions,
		narrow_types, sieve, bytecode, queens_7,
	};

	seed = 12345 + n;
	return work[n]();
}
