import { join } from 'node:path'

import { testCorpus } from './corpus.ts'

testCorpus('pages with libraries', join(import.meta.dir, 'libraries'))
