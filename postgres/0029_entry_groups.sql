DROP INDEX "entries_ref";--> statement-breakpoint
ALTER TABLE "entries" ADD COLUMN "commit_group" text;--> statement-breakpoint
CREATE INDEX "entries_group" ON "entries" USING btree ("commit_group") WHERE "entries"."commit_group" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "entries_ref" ON "entries" USING btree ("ref","line") WHERE "entries"."commit_group" is null;