DROP INDEX "apps_uncovered";--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "name" text;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "success_low" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "folder" text;--> statement-breakpoint
CREATE UNIQUE INDEX "apps_name" ON "apps" USING btree ("maker","name") WHERE "apps"."name" is not null and "apps"."closed" is null;--> statement-breakpoint
CREATE INDEX "apps_listed_names" ON "apps" USING btree ("name","success_low","listed_at","id") WHERE "apps"."name" is not null and "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_record" ON "apps" USING btree ("success_low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_record_kind" ON "apps" USING btree ("kind","success_low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_record_shelf" ON "apps" USING btree ("shelf","success_low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_record_remix" ON "apps" USING btree ("remix","success_low","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_uncovered" ON "apps" USING btree ("updated","id") WHERE "apps"."cover_version" < "apps"."version" and not "apps"."cover_given" and "apps"."name" is null and "apps"."closed" is null and "apps"."taken_down" is null;