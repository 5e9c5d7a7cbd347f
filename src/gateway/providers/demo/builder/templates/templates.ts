import type { TemplateName } from '../catalog.ts'
import blocks from './blocks.html' with { type: 'text' }
import breakout from './breakout.html' with { type: 'text' }
import breathe from './breathe.html' with { type: 'text' }
import budget from './budget.html' with { type: 'text' }
import calculator from './calculator.html' with { type: 'text' }
import checklist from './checklist.html' with { type: 'text' }
import clicker from './clicker.html' with { type: 'text' }
import clock from './clock.html' with { type: 'text' }
import collector from './collector.html' with { type: 'text' }
import converter from './converter.html' with { type: 'text' }
import countdown from './countdown.html' with { type: 'text' }
import dice from './dice.html' with { type: 'text' }
import draw from './draw.html' with { type: 'text' }
import drums from './drums.html' with { type: 'text' }
import flappy from './flappy.html' with { type: 'text' }
import flashcards from './flashcards.html' with { type: 'text' }
import formula from './formula.html' with { type: 'text' }
import four from './four.html' with { type: 'text' }
import greeting from './greeting.html' with { type: 'text' }
import hangman from './hangman.html' with { type: 'text' }
import kanban from './kanban.html' with { type: 'text' }
import life from './life.html' with { type: 'text' }
import maths from './maths.html' with { type: 'text' }
import maze from './maze.html' with { type: 'text' }
import memory from './memory.html' with { type: 'text' }
import metronome from './metronome.html' with { type: 'text' }
import mines from './mines.html' with { type: 'text' }
import notes from './notes.html' with { type: 'text' }
import number from './number.html' with { type: 'text' }
import oracle from './oracle.html' with { type: 'text' }
import palette from './palette.html' with { type: 'text' }
import particles from './particles.html' with { type: 'text' }
import password from './password.html' with { type: 'text' }
import piano from './piano.html' with { type: 'text' }
import pixel from './pixel.html' with { type: 'text' }
import pong from './pong.html' with { type: 'text' }
import quiz from './quiz.html' with { type: 'text' }
import racer from './racer.html' with { type: 'text' }
import reaction from './reaction.html' with { type: 'text' }
import rps from './rps.html' with { type: 'text' }
import runner from './runner.html' with { type: 'text' }
import scoreboard from './scoreboard.html' with { type: 'text' }
import shooter from './shooter.html' with { type: 'text' }
import simon from './simon.html' with { type: 'text' }
import slide from './slide.html' with { type: 'text' }
import snake from './snake.html' with { type: 'text' }
import stopwatch from './stopwatch.html' with { type: 'text' }
import sudoku from './sudoku.html' with { type: 'text' }
import textstats from './textstats.html' with { type: 'text' }
import tictactoe from './tictactoe.html' with { type: 'text' }
import timer from './timer.html' with { type: 'text' }
import tracker from './tracker.html' with { type: 'text' }
import twenty48 from './twenty48.html' with { type: 'text' }
import typing from './typing.html' with { type: 'text' }
import whack from './whack.html' with { type: 'text' }
import wheel from './wheel.html' with { type: 'text' }
import wordguess from './wordguess.html' with { type: 'text' }

/** The text of each template: `unknown`, since the types of imports declare HTML as a bundle. */
export const templates: Record<TemplateName, unknown> = {
  life,
  maths,
  hangman,
  number,
  rps,
  blocks,
  breakout,
  breathe,
  budget,
  calculator,
  checklist,
  clicker,
  clock,
  collector,
  converter,
  countdown,
  dice,
  draw,
  drums,
  flappy,
  flashcards,
  formula,
  four,
  greeting,
  kanban,
  maze,
  memory,
  metronome,
  mines,
  notes,
  oracle,
  palette,
  particles,
  password,
  piano,
  pixel,
  pong,
  quiz,
  racer,
  reaction,
  runner,
  scoreboard,
  shooter,
  simon,
  slide,
  snake,
  stopwatch,
  sudoku,
  textstats,
  tictactoe,
  timer,
  tracker,
  twenty48,
  typing,
  whack,
  wheel,
  wordguess,
}
