import { join } from 'node:path'

import { testCorpus } from './corpus.ts'

// The files of a library change only with its version.
const stepInCi = 6

testCorpus('pages with libraries', join(import.meta.dir, 'libraries'), stepInCi)
