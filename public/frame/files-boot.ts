/** The boot script of pages with files. */
import { bootPage } from './boot-page.ts'
import { goInFolder, start } from './files.ts'

bootPage({ goInFolder, start })
