CREATE TABLE "imports" (
	"archive" text NOT NULL,
	"server" text NOT NULL,
	"origin" text NOT NULL,
	"local" text NOT NULL,
	"ledger" text,
	"at" bigint NOT NULL,
	CONSTRAINT "imports_archive_origin_pk" PRIMARY KEY("archive","origin")
);
--> statement-breakpoint
CREATE INDEX "imports_origin" ON "imports" USING btree ("server","origin");--> statement-breakpoint
CREATE INDEX "imports_local" ON "imports" USING btree ("local");--> statement-breakpoint
CREATE INDEX "imports_ledger" ON "imports" USING btree ("ledger");