/**
 * Hashes passwords with a small part of their memory: most tests sign up, and none of them needs a
 * hash that resists a guess. The time cost stays, so that a hash shows what was requested.
 */
const memoryPart = 1 / 2_432

const { hash } = Bun.password
type HashOptions = Parameters<typeof hash>[1]

const cheaper = (options: HashOptions): HashOptions =>
  typeof options === 'object' && 'memoryCost' in options
    ? { ...options, memoryCost: Number(options.memoryCost) * memoryPart }
    : options

Object.assign(Bun.password, {
  hash: (text: string, options?: HashOptions) => hash(text, cheaper(options)),
})
