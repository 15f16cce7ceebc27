import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** The Chromium of this machine: the one that CHROMIUM names, else a usual place; null if none. */
export function findBrowser(): string | null {
  const { CHROMIUM } = process.env;
  const places = CHROMIUM === undefined || CHROMIUM === '' ? PLACES : [CHROMIUM];
  return places.find((place) => existsSync(place)) ?? null;
}

export const NO_BROWSER =
  'No Chromium was found. Install one (Debian: apt install chromium), or name it in CHROMIUM.';
