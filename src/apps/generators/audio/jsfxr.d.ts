declare module 'jsfxr' {
  /** Parameters of a sound. Its envelope is in square roots of 100,000 samples. */
  interface Params {
    p_env_attack: number
    p_env_sustain: number
    p_env_decay: number
    p_freq_limit: number
    mutate(): void
  }
  export const sfxr: {
    generate(preset: string, options: { sample_rate: number; sound_vol: number }): Params
    /** Samples from -1 to 1, one channel. */
    toBuffer(params: Params): number[]
  }
}
