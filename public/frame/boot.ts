/** The boot script of pages without files. */
import { bootPage } from './boot-page.ts'

bootPage()
