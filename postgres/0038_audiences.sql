CREATE TABLE "audience_members" (
	"app" text NOT NULL,
	"kind" text NOT NULL,
	"member" text NOT NULL,
	CONSTRAINT "audience_members_app_kind_member_pk" PRIMARY KEY("app","kind","member")
);
--> statement-breakpoint
CREATE TABLE "share_links" (
	"id" text PRIMARY KEY NOT NULL,
	"app" text NOT NULL,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"created" bigint NOT NULL,
	"expires" bigint,
	"used" bigint,
	CONSTRAINT "share_links_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "group_members" (
	"group" text NOT NULL,
	"person" text NOT NULL,
	"source" text NOT NULL,
	CONSTRAINT "group_members_group_person_source_pk" PRIMARY KEY("group","person","source")
);
--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "audience" text DEFAULT 'public' NOT NULL;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "expires" bigint;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "password" text;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "access" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "audience_members_member" ON "audience_members" USING btree ("kind","member");--> statement-breakpoint
CREATE INDEX "share_links_app" ON "share_links" USING btree ("app","created");--> statement-breakpoint
CREATE INDEX "group_members_person" ON "group_members" USING btree ("person","group");