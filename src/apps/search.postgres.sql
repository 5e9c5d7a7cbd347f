-- What drizzle-kit cannot say: the full-text index over listed apps. Their words are tokens already.
CREATE INDEX "apps_search" ON "apps" USING gin (array_to_tsvector(string_to_array("words", ' ')))
  WHERE "listed" = 'on';
