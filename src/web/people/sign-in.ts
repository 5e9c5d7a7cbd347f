import { Elysia } from 'elysia'

import { checkFirst, becomeOperator, shownName } from '../../hosting/people/people.ts'
import { endOthers } from '../../hosting/people/sessions.ts'
import { recover, signIn, signUp } from '../../hosting/people/sign-in.ts'
