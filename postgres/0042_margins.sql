CREATE TABLE "app_turns" (
	"app" text PRIMARY KEY NOT NULL,
	"cost" bigint NOT NULL,
	"turns" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "consents" ADD COLUMN "margin" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "ai_margin" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "entries_margin" ON "entries" USING btree ("account","at") WHERE "entries"."kind" = 'margin';