CREATE TABLE "featured" (
	"item" text PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "apps_played" ON "apps" USING btree ("opens","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_played_kind" ON "apps" USING btree ("kind","opens","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_played_shelf" ON "apps" USING btree ("shelf","opens","listed_at","id") WHERE "apps"."listed" = 'on';--> statement-breakpoint
CREATE INDEX "apps_played_remix" ON "apps" USING btree ("remix","opens","listed_at","id") WHERE "apps"."listed" = 'on';