CREATE TABLE "observed_windows" (
	"process" text NOT NULL,
	"name" text NOT NULL,
	"at" bigint NOT NULL,
	"counts" text NOT NULL,
	CONSTRAINT "observed_windows_process_name_at_pk" PRIMARY KEY("process","name","at")
);
--> statement-breakpoint
CREATE INDEX "observed_windows_at" ON "observed_windows" USING btree ("name","at");