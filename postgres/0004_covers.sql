CREATE TABLE "screenshots" (
	"app" text NOT NULL,
	"position" bigint NOT NULL,
	"large" text NOT NULL,
	"small" text NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "screenshots_app_position_pk" PRIMARY KEY("app","position")
);
--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "cover" text;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "cover_small" text;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "cover_color" text;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "cover_given" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "cover_version" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "screenshots_large" ON "screenshots" USING btree ("large");--> statement-breakpoint
CREATE INDEX "screenshots_small" ON "screenshots" USING btree ("small");--> statement-breakpoint
CREATE INDEX "apps_cover" ON "apps" USING btree ("cover");--> statement-breakpoint
CREATE INDEX "apps_cover_small" ON "apps" USING btree ("cover_small");--> statement-breakpoint
CREATE INDEX "apps_uncovered" ON "apps" USING btree ("updated","id") WHERE "apps"."cover_version" < "apps"."version" and not "apps"."cover_given" and "apps"."closed" is null and "apps"."taken_down" is null;