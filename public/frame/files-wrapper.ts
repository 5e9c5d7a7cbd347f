/** The wrapper of pages with files. */
import { filesDress } from './files-markup.ts'
import { wrap } from './wrap.ts'

wrap(filesDress())
