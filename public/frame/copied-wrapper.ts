/** The wrapper of offline copies with files. */
import { openCopiedMarkup } from './copied-markup.ts'
import { filesDress } from './files-markup.ts'
import { wrap } from './wrap.ts'

wrap(filesDress(openCopiedMarkup))
