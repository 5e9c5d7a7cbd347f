CREATE TABLE "libraries" (
	"name" text NOT NULL,
	"version" text NOT NULL,
	"license" text NOT NULL,
	"source" text NOT NULL,
	"added" bigint NOT NULL,
	CONSTRAINT "libraries_name_version_pk" PRIMARY KEY("name","version")
);
--> statement-breakpoint
CREATE TABLE "library_files" (
	"name" text NOT NULL,
	"version" text NOT NULL,
	"path" text NOT NULL,
	"sha256" text NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "library_files_name_version_path_pk" PRIMARY KEY("name","version","path")
);
--> statement-breakpoint
CREATE TABLE "library_uses" (
	"app" text NOT NULL,
	"version" bigint NOT NULL,
	"library" text NOT NULL,
	"sha256" text NOT NULL,
	"type" text NOT NULL,
	CONSTRAINT "library_uses_app_version_library_sha256_pk" PRIMARY KEY("app","version","library","sha256")
);
--> statement-breakpoint
ALTER TABLE "versions" ADD COLUMN "libraries" text;--> statement-breakpoint
CREATE INDEX "library_files_sha256" ON "library_files" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "library_uses_library" ON "library_uses" USING btree ("library","app");--> statement-breakpoint
CREATE INDEX "library_uses_sha256" ON "library_uses" USING btree ("sha256");