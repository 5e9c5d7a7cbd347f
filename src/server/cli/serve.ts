import { environmentForUpstreams, serviceManager } from '../../kernel/config/load.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { operatorLink } from '../../people/people.ts'
import { serve } from '../http/server.ts'
import { printBanner } from './first-run.ts'

/** `berth serve`: serves until SIGTERM or SIGINT. Throws FolderInUse and PortInUse. */
export async function serveUntilSignal(config: Config, json: boolean): Promise<void> {
  restartForUpstreams(config)
  const server = await serve(config)
  const { urls, log } = server.ctx
  const operatorUrl = await operatorLink(server.ctx)
  const manager = serviceManager()
  const tellStopping =
    manager && (await import('./service-manager.ts')).notifyServiceManager(server, manager)
  const stop = (): void => {
    tellStopping?.()
    void server.stop().then(() => process.exit(0))
  }
  server.ctx.state.backupWork.restart = () => void server.stop().then(() => startAgain())
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // A rejection without a handler ends one piece of work. All others go on.
  process.on('unhandledRejection', (error) => log.error('unhandled', error))
  const ready = {
    origin: server.origin,
    baseUrl: urls.base,
    gatewayUrl: urls.gateway,
    appUrl: urls.app,
    mcpUrl: urls.mcp,
    pid: process.pid,
    ...(operatorUrl && { operatorUrl }),
  }
  // `process.stdout` would load the streams of Node.
  await Bun.write(
    Bun.stdout,
    json ? `${JSON.stringify(ready)}\n` : await printBanner(server.ctx, server.send),
  )
  // Up to here the binary compiles little of what it runs: see scripts/build.
  Bun.unsafe.setJITPolicy(1)
}

/** Starts this process again where Bun would allow too few upstream requests. */
function restartForUpstreams(config: Config): void {
  const env = environmentForUpstreams(config)
  // On Windows, Bun's default limit stays in force.
  if (env && process.platform !== 'win32') startAgain(env)
}

/** Starts this program again in this process, with its id. Windows has no execve: it ends there. */
function startAgain(env?: typeof process.env): void {
  const script = Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main]
  const args = [process.execPath, ...script, ...Bun.argv.slice(2)]
  if (process.platform === 'win32') process.exit(0)
  process.execve?.(process.execPath, args, ...(env ? [env] : []))
}
