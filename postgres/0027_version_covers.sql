DROP INDEX "apps_uncovered";--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "cover" text;--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "cover_small" text;--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "cover_color" text;--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "cover_bytes" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "apps_uncaptured" ON "apps" USING btree ("updated","id") WHERE "apps"."cover_version" < "apps"."version" and "apps"."name" is null and "apps"."closed" is null and "apps"."taken_down" is null;--> statement-breakpoint
CREATE INDEX "versions_cover" ON "versions" USING btree ("cover");--> statement-breakpoint
CREATE INDEX "versions_cover_small" ON "versions" USING btree ("cover_small");--> statement-breakpoint
UPDATE "versions" SET "cover" = "apps"."cover", "cover_small" = "apps"."cover_small", "cover_color" = "apps"."cover_color"
FROM "apps"
WHERE "apps"."id" = "versions"."app" AND "apps"."version" = "versions"."version"
	AND "apps"."cover_version" = "apps"."version" AND NOT "apps"."cover_given"
	AND coalesce("apps"."listed_version", "apps"."version") = "apps"."version";