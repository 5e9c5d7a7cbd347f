import fc from 'fast-check'

import { testSeed } from './thorough.ts'

fc.configureGlobal({ seed: testSeed })
