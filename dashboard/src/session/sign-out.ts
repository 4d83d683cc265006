import { sessions } from './session.ts'

export async function signOut(): Promise<void> {
  sessions.end('You are signed out.')
}
