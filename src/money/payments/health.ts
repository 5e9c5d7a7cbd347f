/** The health of one server of a chain. */
export interface ServerHealth {
  /** Its setting, place and host. URLs may contain keys. */
  name: string
  /** The reason of its last failure; undefined for one that serves the right network. */
  problem: string | undefined
  isOfOtherNetwork: boolean
}

/** Returns the health of a server without its URL. */
export const healthOf = ({ name, problem, isOfOtherNetwork }: ServerHealth): ServerHealth => ({
  name,
  problem,
  isOfOtherNetwork,
})
