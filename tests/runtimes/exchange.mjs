// Hands the questions to a page, and takes its report; other runtimes use files.

import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";

/** Answers requests to `/questions` and `/report`, and leaves others to `next`. */
export function exchange(questions, report) {
  return async (request, response, next) => {
    if (request.url === "/questions") {
      createReadStream(questions).pipe(response);
    } else if (request.url === "/report" && request.method === "POST") {
      await writeFile(report, await text(request));
      response.end();
    } else {
      next();
    }
  };
}
