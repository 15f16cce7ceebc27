// Dredd loads its hooks from a file. This one hands them to the test that runs Dredd.
const hooks = require('hooks');

globalThis[Symbol.for('burgee.dredd')](hooks);
