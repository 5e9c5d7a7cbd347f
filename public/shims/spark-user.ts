/**
 * GitHub Spark: `spark.user`. No page learns who plays.
 * Source: https://docs.github.com/copilot/tutorials/spark (November 2026).
 */
import { extend } from './bridge-calls.ts'

const user = async () => ({ id: 0, login: 'player', avatarUrl: '', email: '', isOwner: false })

extend('spark', { user })
