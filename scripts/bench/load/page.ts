/** A page of exactly `bytes` bytes of ASCII, made of words from a sample. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { seeded } from '../../../src/testing/fixtures/random.ts'

const sample = join(import.meta.dir, '../../../public/samples/lampkeeper/index.html')

export function pageOf(bytes: number, mark = ''): string {
  const whole = readFileSync(sample, 'utf8').replace(/[^\x00-\x7f]/g, '?')
  const start = `<!doctype html><title>Bench ${mark}</title><script>/*\n`
  const end = '*/</script>\n'
  const random = seeded(bytes)
  const words = whole.replaceAll('*/', '* /').split(/\s+/)
  let middle = ''
  while (middle.length < bytes) middle += `${words[Math.floor(random() * words.length)]} `
  return start + middle.slice(0, bytes - start.length - end.length) + end
}
