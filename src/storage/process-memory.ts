import { readFile } from 'node:fs/promises'

/** The size of a page on most systems. */
const pageBytes = 4_096

/** Returns the memory that only this process uses; 0 where the system does not tell it. */
export async function readProcessBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '')
  const [, resident = 0, shared = 0] = text.split(' ').map(Number)
  return (resident - shared) * pageBytes
}
