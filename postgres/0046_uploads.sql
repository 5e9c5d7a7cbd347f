CREATE TABLE "app_uploads" (
	"app" text NOT NULL,
	"name" text NOT NULL,
	"author" text NOT NULL,
	"type" text NOT NULL,
	"bytes" bigint NOT NULL,
	"sha256" text NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "app_uploads_app_name_pk" PRIMARY KEY("app","name")
);
--> statement-breakpoint
CREATE INDEX "app_uploads_author" ON "app_uploads" USING btree ("app","author");--> statement-breakpoint
CREATE INDEX "app_uploads_sha256" ON "app_uploads" USING btree ("sha256");