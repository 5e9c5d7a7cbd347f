import { join } from 'node:path'

import { testCorpus } from './corpus.ts'

testCorpus('pages with habits of models', join(import.meta.dir, 'habits'))
