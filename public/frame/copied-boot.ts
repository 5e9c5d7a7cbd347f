/** The boot script of offline copies with files. */
import { bootPage } from './boot-page.ts'
import { openCopied } from './copied-files.ts'
import { goInFolder, start } from './files.ts'

bootPage({
  goInFolder,
  start: (files, needsFallback, tell) => start(files, needsFallback, tell, openCopied(files)),
})
