/** The wrapper of pages without files. */
import { wrap } from './wrap.ts'

wrap()
