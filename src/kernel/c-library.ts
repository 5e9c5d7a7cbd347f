import { dlopen, type FFIFunction } from 'bun:ffi'

/** The C library of glibc and of musl. */
const names = ['libc.so.6', 'libc.so']

/** Opens functions of the C library of Linux. Throws an Error where there is none. */
export function openCLibrary<const Functions extends Record<string, FFIFunction>>(
  functions: Functions,
) {
  for (const name of names) {
    try {
      return dlopen(name, functions).symbols
    } catch {
      // The next name may be the right one.
    }
  }
  throw new Error('The C library was not found.')
}
