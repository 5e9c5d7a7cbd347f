/** The shell of apps without files. */
import { runShell } from './run-shell.ts'

runShell()
