import { clientCommand, type ClientFlags, type Connection, connectOrJoin } from '../connection.ts'
import {
  CommandFailure,
  confirmed,
  exitCodes,
  isTerminal,
  printNote,
  printValue,
  ProgressBar,
} from '../terminal.ts'

interface BuildFlags extends ClientFlags {
  kind?: 'app' | 'game'
  app?: string
  yes?: boolean
}

export const build = clientCommand('build', 'have an app built from a description')
  .argument('<prompt>', 'what to build, or what to change')
  .option('--kind <kind>', 'app or game')
  .option('--app <id>', 'change this app')
  .option('-y, --yes', 'build without asking for the price')
  .action(async (prompt: string, flags: BuildFlags) => {
    const connection = await connectOrJoin(flags)
    const { agent } = connection.berth
    const request = { prompt, ...(flags.kind && { kind: flags.kind }) }
    const start = (more: { dryRun: true } | { maxCredits: number }) =>
      flags.app === undefined
        ? agent.publishApp({ ...request, ...more })
        : agent.publishVersion({ id: flags.app, prompt, ...more })
    const { price = 0 } = await start({ dryRun: true })
    const most = `The build costs at most ${price} credits, and nothing if it fails.`
    if (flags.yes) await printNote(most)
    else if (!process.stdin.isTTY) throw new CommandFailure(`${most} Add --yes to start it.`)
    else if (!confirmed(`${most} Start it?`)) {
      throw new CommandFailure('Nothing was built.', exitCodes.cancelled)
    }
    const { job } = await start({ maxCredits: Math.ceil(price) })
    if (!job) throw new CommandFailure('The server started no build. Update berth and try again.')
    await follow(connection, job.id, flags)
  })

/** Shows the steps of a build, and prints its link. Ctrl-C cancels the build. */
async function follow({ berth }: Connection, id: string, flags: BuildFlags): Promise<void> {
  const cancel = (): void => void berth.agent.cancelJob({ id }).catch(() => undefined)
  process.once('SIGINT', cancel)
  const bar = new ProgressBar('Building')
  let step: string | null = null
  for await (const job of berth.agent.watchJob({ id })) {
    bar.show(job.progress, job.step ?? job.state)
    if (!isTerminal() && job.step !== step && job.step) await printNote(`${job.step} ...`)
    step = job.step
  }
  bar.end()
  process.off('SIGINT', cancel)
  const { job } = await berth.agent.getJob({ id })
  if (job.state === 'cancelled') {
    throw new CommandFailure('The build was cancelled. Nothing was charged.', exitCodes.cancelled)
  }
  if (!job.result)
    throw new CommandFailure(job.error?.error ?? 'The build did not end. See: berth logs')
  await printNote(`Built version ${job.result.version} for ${job.charged} credits.`)
  await printValue(job, job.result.link, flags.json)
}
