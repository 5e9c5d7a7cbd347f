CREATE TABLE "app_documents" (
	"app" text NOT NULL,
	"collection" text NOT NULL,
	"id" text NOT NULL,
	"version" bigint NOT NULL,
	"author" text NOT NULL,
	"editor" text NOT NULL,
	"own" boolean NOT NULL,
	"data" text,
	"bytes" bigint NOT NULL,
	"holder" text,
	"held_until" bigint,
	"created" bigint NOT NULL,
	"updated" bigint NOT NULL,
	CONSTRAINT "app_documents_app_collection_id_pk" PRIMARY KEY("app","collection","id")
);
--> statement-breakpoint
CREATE TABLE "app_players" (
	"app" text NOT NULL,
	"id" text NOT NULL,
	"person" text,
	"name" text,
	"joined" bigint,
	"value_bytes" bigint NOT NULL,
	"value_count" bigint NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "app_players_app_id_pk" PRIMARY KEY("app","id")
);
--> statement-breakpoint
CREATE TABLE "app_spaces" (
	"app" text PRIMARY KEY NOT NULL,
	"version" bigint NOT NULL,
	"documents" bigint NOT NULL,
	"document_bytes" bigint NOT NULL,
	"value_bytes" bigint NOT NULL,
	"value_count" bigint NOT NULL,
	"forgotten" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "app_values" (
	"app" text NOT NULL,
	"owner" text NOT NULL,
	"key" text NOT NULL,
	"author" text NOT NULL,
	"value" text NOT NULL,
	"bytes" bigint NOT NULL,
	"updated" bigint NOT NULL,
	CONSTRAINT "app_values_app_owner_key_pk" PRIMARY KEY("app","owner","key")
);
--> statement-breakpoint
CREATE INDEX "app_documents_changes" ON "app_documents" USING btree ("app","collection","version");--> statement-breakpoint
CREATE INDEX "app_documents_versions" ON "app_documents" USING btree ("app","version");--> statement-breakpoint
CREATE INDEX "app_players_person" ON "app_players" USING btree ("person");